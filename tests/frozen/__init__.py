"""What users rely on, frozen: public names, the command line, exit codes and the HTTP interface."""
