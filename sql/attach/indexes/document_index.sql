-- An index that the document of a team names. Ours serves the same queries and keeps heartbeats HOT.
create index /*+concurrently concurrently*/ if not exists "document_index"
  on /*+only only*/ "unstuck"."jobs" /*index_columns*/("status", "lease_expires_at");
