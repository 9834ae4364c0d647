"""Read chat files in, write and read the project's own export.

**In.** A file is recognised by its first bytes (JSON lines, one JSON document, a plain transcript, our own
export; gzipped or not, UTF-8, UTF-16, UTF-32 or a named encoding) and streamed: no more than one value is
held. Each message goes the ordinary way of `add`, in a thread for each conversation of the file.

**Out.** An export is a header and then one noun a line, threads before what is in them. It is lossless for
what was observed, decided, linked, learned and set by hand; what can be derived (vectors, indexes) is derived
again, and replaced generations stay behind.

**Rules of the room.**
1. Importing a file twice adds nothing, under whatever name: unnamed chats are named by how they begin, and
   messages without an id by content, time and count in their file. So two exports of one chat in one folder
   are one chat, as they are one after the other.
2. An unreadable record is reported by line and costs only itself. A damaged export is refused before anything
   is stored.
3. A time that the file does not give is assumed and marked so: no gap cue, no recency, no date words.
4. Limits bound a line, a message and an unpacked archive before anything is stored.
5. Restoring never overwrites: what this memory says itself stays, and what was erased here stays erased.
6. A newer export version is refused by name.

**To add** a chat format, write a reader that yields `Item` and `Unreadable`, and let `detect` recognise it by
content, not by the file's name. To add a noun to exports, give it a line type with plain fields, write it
after what it refers to, and restore it where it is missing.
"""
