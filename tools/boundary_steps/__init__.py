"""What `tools/train_steps.py` is made of: labelled streams of steps, copies and scripts of them, rows."""
