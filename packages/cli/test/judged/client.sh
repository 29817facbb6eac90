#!/bin/sh
# Calls the general API until it is stopped, with curl: one token, and a new one after a 401.
get_token() {
  secret=$(sed 's/.*"clientSecret":"\([^"]*\)".*/\1/' "$GENERAL_CREDENTIALS_FILE")
  token=$(curl --silent --tlsv1.2 --max-time 10 "$GENERAL_TOKEN_URL" \
    --data grant_type=client_credentials \
    --data "client_id=$GENERAL_CLIENT_ID" --data "client_secret=$secret" |
    sed -n 's/.*"access_token":"\([^"]*\)".*/\1/p')
}

# prints the status
call() {
  printf 'Authorization: Bearer %s' "$token" |
    curl --silent --tlsv1.2 --max-time 10 --header @- --output /dev/null --write-out '%{http_code}' "$1"
}

number=0
while true; do
  number=$((number + 1))
  url=$(printf '%srecords/INV-%07d' "$API_URL" "$number")
  while [ -z "$token" ] || [ "$(call "$url")" = 401 ]; do
    get_token
    # an issuer that gives no token is not asked without end
    [ -n "$token" ] || sleep 0.5
  done
  sleep 0.02
done
