//go:build tools

// Package tools names the server that the tests run, so that go.mod and go.sum fix what it is built from.
package tools

import _ "github.com/hashicorp/consul"
