import assert from 'node:assert/strict'

/** The directives of systemd that our units use, by section, and what each takes; another one must be added here. */

const text = /^\S.*$/
const yes = /^(true|false|yes|no)$/
const seconds = /^\d+$/
const units = /^[\w@.-]+\.(service|target)( [\w@.-]+\.(service|target))*$/
const mode = /^0[0-7]{3}$/

const directives: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  Unit: {
    Description: text,
    Documentation: /^(file|https|man):\S+$/,
    After: units,
    Wants: units,
    StartLimitIntervalSec: seconds,
  },
  Service: {
    User: /^[a-z_][a-z\d_-]*$/,
    Group: /^[a-z_][a-z\d_-]*$/,
    Environment: /^[A-Z][A-Z\d_]*=\S*$/,
    EnvironmentFile: /^-?\/[\w./%-]+$/,
    ExecStart: /^\/\S+( \S+)*$/,
    Type: /^(simple|exec|notify)$/,
    NotifyAccess: /^(main|exec|all)$/,
    TimeoutStartSec: /^(\d+|infinity)$/,
    WatchdogSec: seconds,
    Restart: /^(no|always|on-failure|on-abnormal)$/,
    RestartSec: seconds,
    TimeoutStopSec: seconds,
    KillMode: /^(control-group|mixed|process)$/,
    StateDirectory: /^[\w%-]+$/,
    StateDirectoryMode: mode,
    UMask: mode,
    NoNewPrivileges: yes,
    ProtectSystem: /^(true|false|full|strict)$/,
    ProtectHome: /^(true|false|read-only|tmpfs)$/,
    PrivateTmp: yes,
    PrivateDevices: yes,
    PrivateIPC: yes,
    PrivateMounts: yes,
    PrivateUsers: yes,
    ProtectProc: /^(default|invisible|noaccess|ptraceable)$/,
    ProcSubset: /^(all|pid)$/,
    RestrictAddressFamilies: /^AF_[A-Z\d]+( AF_[A-Z\d]+)*$/,
    LimitNOFILE: seconds,
    LimitCORE: seconds,
    CapabilityBoundingSet: /^$/,
    LockPersonality: yes,
    KeyringMode: /^(inherit|private|shared)$/,
    RemoveIPC: yes,
    ProtectClock: yes,
    ProtectControlGroups: yes,
    ProtectHostname: yes,
    ProtectKernelLogs: yes,
    ProtectKernelModules: yes,
    ProtectKernelTunables: yes,
    RestrictNamespaces: yes,
    RestrictRealtime: yes,
    RestrictSUIDSGID: yes,
    SystemCallArchitectures: /^native$/,
    SystemCallFilter: /^~?@[a-z-]+( @[a-z-]+)*$/,
    SystemCallErrorNumber: /^E[A-Z]+$/,
  },
  Install: { WantedBy: units },
}

/** May be written several times; every other one once. */
const lists = new Set(['Environment', 'EnvironmentFile', 'SystemCallFilter'])

export interface Directive {
  readonly section: string
  readonly name: string
  readonly value: string
}

/** Reads a unit; throws at whatever systemd would ignore with a warning, or refuse. */
export function readUnit(source: string): Directive[] {
  const found: Directive[] = []
  let section = ''
  for (const [index, line] of source.split('\n').entries()) {
    const where = `line ${index + 1}: ${line}`
    if (line === '' || line.startsWith('#')) continue
    const header = /^\[(\w+)\]$/.exec(line)?.[1]
    if (header !== undefined) {
      assert.ok(directives[header], `no such section, ${where}`)
      section = header
      continue
    }
    const [, name = '', value = ''] = /^([A-Z]\w*)=(.*)$/.exec(line) ?? []
    const pattern = directives[section]?.[name]
    assert.ok(pattern, `no such directive in [${section}], ${where}`)
    assert.match(value, pattern, where)
    const isTwice = found.some((one) => one.section === section && one.name === name)
    assert.ok(!isTwice || lists.has(name), `written twice, ${where}`)
    found.push({ section, name, value })
  }
  return found
}
