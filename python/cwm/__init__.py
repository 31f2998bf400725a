"""Python side of cwm: what is easier done with Hugging Face's packages than in C++."""
