-- Ends a reservation. Argument: the tokens that it was used for.
remove(id)
spent = spent + tonumber(ARGV[4])
store()
