drop index /*+concurrently concurrently*/ if exists "index";
