"""The workflow language of Direktiv: YAML states with structured jq."""
