"""`jali attack`: the attack lab. One attack, a sweep over noise or loss or questions, or all of them."""
