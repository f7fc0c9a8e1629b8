"""Unknown keys: which groups exist in the data, told without telling of anyone's presence."""
