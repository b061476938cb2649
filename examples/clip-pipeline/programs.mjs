// The program of each stage: ffmpeg if it is installed, else a stand-in that burns CPU and writes a file.
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** @typedef {'clip' | 'asr' | 'burnin'} Stage */
/** @typedef {{ clip: string, asr: string, burnin: string }} Files what each stage leaves */

const standIn = fileURLToPath(new URL('stand-in.mjs', import.meta.url))
const CLIP_SEC = 4
/** A tone in every other second. */
const SOUND = `aevalsrc=sin(880*2*PI*t)*lt(mod(t\\,2)\\,1):d=${CLIP_SEC}`

export const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0

/**
 * @param {Stage} stage
 * @param {Files} files
 * @param {string} output
 * @returns {Promise<{ command: string, args: string[] }>}
 */
export async function programOf(stage, files, output) {
  if (!hasFfmpeg)
    return { command: process.execPath, args: [standIn, stage === 'burnin' ? '4' : '1', output] }
  const common = ['-nostdin', '-hide_banner', '-loglevel', 'error', '-progress', 'pipe:1', '-y']
  return { command: 'ffmpeg', args: [...common, ...(await ffmpegArgs(stage, files, output))] }
}

/**
 * @param {Stage} stage
 * @param {Files} files
 * @param {string} output
 */
async function ffmpegArgs(stage, files, output) {
  if (stage === 'clip') {
    const picture = `testsrc=duration=${CLIP_SEC}:size=320x180:rate=15`
    const inputs = ['-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', SOUND]
    return [...inputs, '-c:v', 'mpeg4', '-c:a', 'aac', '-f', 'mp4', output]
  }
  if (stage === 'asr') {
    // It recognises no words, only where there is sound: that needs no model.
    const filter = `silencedetect=noise=-30dB:d=0.3,ametadata=mode=print:file=${output}`
    return ['-i', files.clip, '-af', filter, '-f', 'null', '-']
  }
  const box = `drawbox=x=20:y=150:w=280:h=16:color=white:t=fill:enable='not(${await silences(files.asr)})'`
  // -re reads at the speed of playback, which leaves time to kill it.
  return ['-re', '-i', files.clip, '-vf', box, '-c:v', 'mpeg4', '-c:a', 'copy', '-f', 'mp4', output]
}

/** @param {string} file */
async function silences(file) {
  const found = await readFile(file, 'utf8')
  const times = (/** @type {string} */ word) =>
    [...found.matchAll(new RegExp(`silence_${word}=([\\d.]+)`, 'g'))].map(([, time]) => time)
  const ends = times('end')
  const spans = times('start').map((start, n) => `between(t,${start},${ends[n] ?? CLIP_SEC})`)
  return spans.join('+') || '0'
}
