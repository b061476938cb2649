#!/usr/bin/env node
// Committed, so that npm can link the command before anything is built.
import '../dist/cli/main.js'
