import { type ChildProcess, fork } from 'node:child_process'
import type { Launched } from './command.ts'

export type Order =
  | { do: 'run'; args: readonly string[]; env: Readonly<Record<string, string>>; cwd: string }
  | { do: 'signal'; signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' }

export type Report = { stream: 'stdout' | 'stderr'; text: string } | { code: number }

const program = new URL('./command-host.ts', import.meta.url)
/** Idle processes for commands. They end with this one. */
const idle: ChildProcess[] = []

/** Runs a command in a reused process, otherwise as if it had its own. */
export function launchHosted(order: Extract<Order, { do: 'run' }>): Launched {
  const host = idle.pop() ?? fork(program, { execArgv: ['--disable-warning=ExperimentalWarning'] })
  // It keeps this process alive only while it works.
  host.ref()
  host.channel?.ref()
  return {
    pid: host.pid ?? 0,
    send: (signal) => {
      if (signal === 'SIGINT' || signal === 'SIGTERM' || signal === 'SIGHUP') host.send({ do: 'signal', signal })
      else throw new Error(`a command that is killed with ${signal} takes a process of its own`)
    },
    follow: (onOutput, onEnd) => {
      const fail = () => onEnd(new Error('the process that runs commands ended by itself'))
      const take = (message: Report) => {
        if ('stream' in message) return onOutput(message.stream, message.text)
        host.off('message', take)
        host.off('exit', fail)
        host.unref()
        host.channel?.unref()
        idle.push(host)
        onEnd(message.code)
      }
      host.on('message', take)
      host.once('exit', fail)
      host.send(order)
    },
  }
}
