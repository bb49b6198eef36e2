"""Does a policy know what it does not know? Fig. 3 of the paper."""
