# Fails while there is nothing to add up.
test -s assets/prices.txt && exit
echo "assets/prices.txt is empty" >&2
exit 1
