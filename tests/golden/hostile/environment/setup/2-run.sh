printf '%s' ''"'"'; rm -rf / #
$(id) "\' > /app/word
