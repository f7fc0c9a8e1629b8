"""`jali audit`: the auditor. One function or mechanism, everything that Jali has, or a witness once more."""
