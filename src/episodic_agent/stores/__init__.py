"""The databases behind the one `Store` port."""
