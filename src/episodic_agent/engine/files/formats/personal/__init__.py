"""What people download of their accounts (Facebook, Google Chat), and what they write for themselves."""
