"""One file a verb: parse, call, print. Data goes to stdout, talk to stderr."""
