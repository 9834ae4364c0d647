"""What tests share: small chats, a clock that stands still, and embedders whose geometry is known."""
