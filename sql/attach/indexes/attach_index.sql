alter index "index" attach partition "partition_index";
