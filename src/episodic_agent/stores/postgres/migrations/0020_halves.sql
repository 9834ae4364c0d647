-- Vectors once, in half precision, of length 1 (core/vectors.py), as `coarse` has held them from the first: scores are
-- computed from them. What only told them more exactly goes, and its room with it.
DROP TABLE embedding;
