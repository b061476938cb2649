// Stands in for ffmpeg: keeps a core busy for some seconds and writes its file bit by bit, so that one that was killed
// leaves half a file. Arguments: seconds, file.
import { createHash } from 'node:crypto'
import { appendFileSync, writeFileSync } from 'node:fs'

const [, , seconds = '1', file = ''] = process.argv
const FRAMES_PER_SEC = 15
const frames = Number(seconds) * FRAMES_PER_SEC

writeFileSync(file, `frames ${frames}\n`)
for (let frame = 1; frame <= frames; frame++) {
  const until = performance.now() + 1000 / FRAMES_PER_SEC
  let digest = ''
  while (performance.now() < until) digest = createHash('sha256').update(`${frame}${digest}`).digest('hex')
  appendFileSync(file, `frame ${frame} ${digest}\n`)
  console.log(`frame=${frame}`)
}
appendFileSync(file, 'end\n')
