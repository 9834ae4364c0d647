"""Who speaks in an import: `owning` knows the user by all names, `unnamed` asks where nobody is named."""
