# What a candidate needs of a Consul with ACLs on; whoever only looks on, or evicts, needs the same.
# consul acl policy create -name tenure -rules @consul-policy.hcl

# All keys of the store: its option `prefix`, with a slash.
key_prefix "tenure/" {
  policy = "write"
}

# Sessions on the nodes of the agents that are spoken to; with the option `node`: session "<that node>".
session_prefix "" {
  policy = "write"
}

# Only with the option `node`, to find that node and to make it when it is missing.
# node "tenure" {
#   policy = "write"
# }
