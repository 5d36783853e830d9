"""A patch in, one outcome a test out; one file a test-report format. Nothing here knows of scores."""
