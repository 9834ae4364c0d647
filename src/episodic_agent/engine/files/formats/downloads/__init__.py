"""Chats as large services give them to whoever downloads their account: a reader each."""
