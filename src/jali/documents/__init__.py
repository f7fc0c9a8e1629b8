"""What people see, as plain JSON values: one document for the command line, the server and its client."""
