"""What `tools/train_boundary.py` is made of: data, glued material, cue rows, networks, measures."""
