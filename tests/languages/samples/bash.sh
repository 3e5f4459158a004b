#!/usr/bin/env bash
# Builds and ships the shop.

set -euo pipefail
. ./lib/common.sh
source "$(dirname "$0")/colors.sh"

# How many days a cart lives.
readonly CART_DAYS=14
export SHOP_HOME="${HOME}/shop"
NAME=shop
declare -A PRICES=([tea]=3 [milk]=2)
LANG=C sort prices.txt

# Prints a line with the time.
#
# The second paragraph is left out.
log() {
  local stamp
  stamp=$(date +%s)
  printf '%s %s\n' "$stamp" "$*" >&2
}

function build::image {
  inner() { docker_build "$@"; }
  log "building" | tee build.log
  inner --tag "$NAME" <<DOCKER
FROM scratch
fake() { not_code; }
DOCKER
}

function in_subshell() (
  cd "$SHOP_HOME" && ls_items
)

if command -v curl >/dev/null; then
  # Only where curl is.
  fetch() { curl -fsSL "$1"; }
  MIRROR=https://example.org
fi

for item in "${!PRICES[@]}"; do
  case "$item" in
    tea) log "tea is $(price_of tea)" ;;
    *) log "$item" ;;
  esac
done

test_log() {
  run log "hello"
  [[ "$output" == *hello ]] || fail "no output"
}

trap cleanup EXIT
build::image "$@"
