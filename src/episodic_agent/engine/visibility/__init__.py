"""Decide what recall may show: pins, suppression, retention, expiry.

Nothing here deletes by request; that is `engine/erase`. A *mark* is a stretch of a thread that is pinned,
suppressed or archived. Words may be suppressed as well. A message may have a time to live. A retention policy
archives what is old, weak or too much, and lets it be erased after a grace period.

**Rules of the room.**
1. Marks lie over observations, not over episodes: they survive a resegmentation, and an episode is hidden
   when a mark meets any of its messages. Only what was edited since (its author said it otherwise) hides its
   own message alone: titles, summaries and facts are made without it.
2. One look at the store says that nothing is hidden, as in most scopes; only otherwise is more read.
3. Hidden text takes no place among results. What was left out is listed only on request, each with its
   reason.
4. What has expired is shown by nothing from that moment on, even before it is erased, and no summary that may
   quote it.
5. Retention first archives, later erases, never both in one pass. What today's rules no longer name comes
   back.
6. A pin keeps from every policy. It does not stop an erasure somebody asked for, nor a time to live.
7. Upkeep works in bounded pieces, each one transaction with the scope held: of several workers one does it.

**To add** a reason to hide something, make it a kind of mark, order it among the others, and let the view of
hidden spans return it; recall, listings, context and links then follow. A retention rule goes into
`core/strength.py` with its unit and its reason in words.
"""
