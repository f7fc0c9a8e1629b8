"""Read sqlglot's tree into nodes, clause by clause against allow-lists."""
