"""The answers that a document declares for an operation, and whether one fits."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.base.strict_json import read_written, write_json
from swf_temporal.expressions.json_schema import BadSchema, DataSchemaValidator
from swf_temporal.functions.documents.parts import Document, DocumentPart
from swf_temporal.functions.documents.schemas import self_contained
from swf_temporal.functions.http.answers import HttpResponse
from swf_temporal.functions.http.media_types import accept, closest
from swf_temporal.text.bodies import is_json, split_content_type

_MAX_VALIDATORS = 128
_ANY = "*/*"

ResponseSchemas = Mapping[str, Mapping[str, JSON]]
"""By status, `2XX` or `DEFAULT`: the media types that are declared, each with its schema, or None for one without."""


@dataclass(frozen=True, slots=True)
class Responses:
    """The answers that an operation declares, errors left out."""

    root: Document
    operation: DocumentPart
    produces: tuple[str, ...] = ()
    """Of version 2.0: the media types of all answers."""

    def accepted(self) -> str | None:
        """Return the header Accept for the operation, or None if it does not say what it answers."""
        if self.root.is_swagger:
            return accept(self.produces)
        return accept(kind for _, response in self._declared() for kind in response.part("content").value)

    def expected(self) -> ResponseSchemas:
        """Return what is declared, each schema free of references to anywhere else. Raises CallFailed if one is bad."""
        contents = self._swagger_contents if self.root.is_swagger else self._contents
        return {status: dict(contents(response)) for status, response in self._declared()}

    def _declared(self) -> Iterator[tuple[str, DocumentPart]]:
        declared = {name.upper(): response for name, response in self.operation.named("responses", "2", "default")}
        successes = [status for status in declared if status.startswith("2")]
        # Beside a success that is declared, `default` is for errors.
        return ((status, declared[status]) for status in successes or declared)

    def _contents(self, response: DocumentPart) -> Iterator[tuple[str, JSON]]:
        for kind, content in response.named("content"):
            yield kind, self._schema(content)

    def _swagger_contents(self, response: DocumentPart) -> Iterator[tuple[str, JSON]]:
        if "schema" in response.value:
            is_file = response.part("schema").value.get("type") == "file"
            for kind in self.produces or (_ANY if is_file else "application/json",):
                yield kind, None if is_file else self._schema(response)

    def _schema(self, holder: DocumentPart) -> JSON:
        if "schema" not in holder.value:
            return None
        schema = self_contained(self.root, holder.document, holder.value["schema"])
        try:
            _validator(write_json(schema))
        except BadSchema as error:
            message = f"'{holder.document.name}' has a schema for an answer that is not a JSON Schema: {error.message}"
            raise permanent_failure("BadDocument", message) from error
        return schema


def violations(expected: ResponseSchemas, answer: HttpResponse) -> list[str]:
    """Return what is wrong with an answer that is not an error, each with the place; nothing if it fits."""
    statuses = (str(answer.status), f"{answer.status // 100}XX", "DEFAULT")
    contents = next((expected[status] for status in statuses if status in expected), None)
    if contents is None:
        return [f"the status {answer.status} is not declared"]
    if not contents:
        return []
    if answer.is_empty:
        return [f"it is empty, and not {' or '.join(contents)}"]
    kind = split_content_type(answer.content_type)[0]
    declared = closest(contents, kind)
    if declared is None:
        return [f"it is {kind or 'of no content type'}, and not {' or '.join(contents)}"]
    schema = contents[declared]
    # Texts and files come as they are; what a schema may say of XML has no place in JSON.
    return _validator(write_json(schema)).violations(answer.body) if schema is not None and is_json(kind) else []


@lru_cache(maxsize=_MAX_VALIDATORS)
def _validator(schema: str) -> DataSchemaValidator:
    return DataSchemaValidator(read_written(schema))
