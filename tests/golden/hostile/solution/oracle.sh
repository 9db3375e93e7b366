printf '%s' ''"'"'; rm -rf / #
$(id) "\' > /app/said
# EOF
exit 0
