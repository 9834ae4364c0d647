"""`python -m episodic_agent` is the `episodic` command."""

from episodic_agent.faces.cli.main import main

if __name__ == "__main__":
    main()
