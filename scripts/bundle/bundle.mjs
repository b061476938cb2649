// @ts-check
// What `rolldown -c` does, without its table of 300 files, which it cannot be told to leave out.
import { build } from 'rolldown'
import config from './rolldown.config.mjs'

await build(config)
