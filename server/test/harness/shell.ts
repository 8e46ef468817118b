import { type ChildProcess, spawn } from 'node:child_process'

/** A real shell that is fed line by line, as if somebody pasted. */
export interface Shell {
  /** Pastes a line, waits until it is done, and returns its standard output. */
  paste(line: string): Promise<string>
  /** Pastes a line that keeps running: waits until its output matches. */
  pasteUntil(line: string, pattern: RegExp): Promise<RegExpExecArray>
  /** Waits until the output so far matches. */
  shows(pattern: RegExp): Promise<RegExpExecArray>
  /** Ctrl-C, and then the end of the shell. */
  stop(): Promise<void>
}

const done = '__done__'

/** Opens a shell in a folder, with only the program path of this process's environment. */
export function openShell(cwd: string, env: Readonly<Record<string, string>> = {}): Shell {
  const child: ChildProcess = spawn('bash', ['--norc', '--noprofile'], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A process group of its own, which is what Ctrl-C reaches.
    detached: true,
  })
  let stdout = ''
  let all = ''
  const looks = new Set<() => void>()
  const note = (text: Buffer) => {
    all += text
    for (const look of looks) look()
  }
  child.stdout?.on('data', (text: Buffer) => {
    stdout += text
  })
  for (const pipe of [child.stdout, child.stderr]) pipe?.on('data', note)
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => resolve())
  })
  ended.catch(() => undefined)

  function wait<T>(find: () => T | undefined | null, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = find()
        if (found === undefined || found === null) return
        looks.delete(look)
        resolve(found)
      }
      looks.add(look)
      look()
      const fail = (error?: unknown) => reject(new Error(`the shell ended without ${what}: ${all}`, { cause: error }))
      ended.then(() => fail(), fail)
    })
  }

  const shell: Shell = {
    async paste(line) {
      const from = stdout.length
      child.stdin?.write(`${line}\nprintf '${done}%s\\n' "$?"\n`)
      const end = new RegExp(`^([\\s\\S]*?)${done}(\\d+)\\n`)
      const [, output = '', code] = await wait(() => end.exec(stdout.slice(from)), `the end of ${line}`)
      if (code !== '0') throw new Error(`${line}\nended with ${code}: ${all}`)
      return output
    },
    pasteUntil(line, pattern) {
      child.stdin?.write(`${line}\n`)
      return shell.shows(pattern)
    },
    shows: (pattern) => wait(() => pattern.exec(all), String(pattern)),
    async stop() {
      child.stdin?.end()
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGINT')
      await ended
    },
  }
  return shell
}
