select "unstuck".register_table(
  /*attachment*/'native', /*profile*/'native', /*table_schema*/'unstuck', /*table*/'jobs', /*policy*/'{}');
