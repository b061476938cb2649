select "unstuck"."set_mode"('observe');
