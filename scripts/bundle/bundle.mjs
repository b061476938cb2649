// @ts-check
// Does the same as `rolldown -c`, which always prints a line for each of 300 files.
import { build } from 'rolldown'
import config from './rolldown.config.mjs'

await build(config)
