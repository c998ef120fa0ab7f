"""From SQL text to plans: frozen values, and the only room that knows sqlglot."""
