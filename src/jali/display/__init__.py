"""What people see: tables, HTML and plots. Knows tables and intervals only."""
