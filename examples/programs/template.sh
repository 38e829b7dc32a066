#!/bin/sh
# An adapter in shell and jq: captions from a template, chosen by the seed of the example.
# --unbuffered writes each answer at once.
exec jq --unbuffered --compact-output '
  if has("protocol") then
    if .kind == "adapter" then {protocol: 1, name: "template", version: "1.0"}
    else {error: "template.sh is an adapter"} end
  elif has("id") then
    . as $request
    | ["a photo of \(.example)", "a picture of \(.example)", "\(.example) in a room"] as $texts
    | {id, value: [range(.n // 1) | $texts[($request.seed + .) % ($texts | length)]]}
  else empty end'
