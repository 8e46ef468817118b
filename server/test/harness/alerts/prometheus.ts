import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, Program, takePort } from '../cluster/programs.ts'
import { until } from '../until.ts'

export type Labels = Readonly<Record<string, string>>

/** An alert that Prometheus would send to somebody. */
export interface FiringAlert {
  readonly name: string
  readonly labels: Labels
  readonly annotations: Labels
}

/** What is scraped: an address, under the name of a job, so often. */
export interface Target {
  readonly address: string
  readonly job: string
  readonly seconds: number
}

/** A real Prometheus that scrapes what it is given, and evaluates rules each second. Whoever makes one starts it. */
export class Prometheus {
  readonly #folder: string
  readonly #program: Program
  readonly #url: string

  private constructor(folder: string, program: Program, port: number) {
    this.#folder = folder
    this.#program = program
    this.#url = `http://127.0.0.1:${port}`
  }

  static async make(rules: string): Promise<Prometheus> {
    const path = await findProgram('prometheus')
    const folder = await mkdtemp(join(tmpdir(), 'switchboard-prometheus-'))
    const port = await takePort()
    const file = join(folder, 'prometheus.yaml')
    await writeFile(join(folder, 'rules.yaml'), rules)
    await writeFile(
      file,
      `global: { evaluation_interval: 1s }
rule_files: [rules.yaml]
scrape_configs:
  - job_name: switchboard
    file_sd_configs: [{ files: [targets.json], refresh_interval: 1s }]
`,
    )
    const flags = [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]
    return new Prometheus(folder, new Program(path, flags, port), port)
  }

  /** With something to scrape: without, the first alert would be that there is nothing. */
  async start(targets: readonly Target[]): Promise<void> {
    await this.scrape(targets)
    await this.#program.start()
    await until(async () => (await fetch(`${this.#url}/-/ready`)).ok, 'Prometheus is ready')
  }

  /** Scrapes these from now on, and nothing else. */
  async scrape(targets: readonly Target[]): Promise<void> {
    const entries = targets.map(({ address, job, seconds }) => ({
      targets: [address],
      labels: { job, __scrape_interval__: `${seconds}s`, __scrape_timeout__: `${seconds}s` },
    }))
    const next = join(this.#folder, 'next.json')
    await writeFile(next, JSON.stringify(entries))
    await rename(next, join(this.#folder, 'targets.json'))
  }

  async listFiring(): Promise<FiringAlert[]> {
    const { alerts } = await this.#ask('alerts')
    return alerts
      .filter(({ state }) => state === 'firing')
      .map(({ labels: { alertname = '', ...labels }, annotations }) => ({ name: alertname, labels, annotations }))
  }

  /** Whether nothing fires, nor will soon because of what was: a pending alert may fire when its cause is over. */
  async isQuiet(): Promise<boolean> {
    return (await this.#ask('alerts')).alerts.length === 0
  }

  /** The names of the alerts that fired at some time in so many seconds; not a moment before, when another cause may just have ended. */
  async listFired(seconds: number): Promise<string[]> {
    const range = `${Math.floor(seconds * 1000)}ms`
    const expression = `count by (alertname) (count_over_time(ALERTS{alertstate="firing"}[${range}]))`
    const { result } = await this.#ask(`query?query=${encodeURIComponent(expression)}`)
    return result.map(({ metric }) => metric['alertname'] ?? '')
  }

  /** Whether so many targets have responded to every scrape of so many seconds. */
  async hasSeen(targets: number, seconds: number): Promise<boolean> {
    const expression = `count(min_over_time(up[${seconds}s]) == 1 and up offset ${seconds}s == 1) == ${targets}`
    const { result } = await this.#ask(`query?query=${encodeURIComponent(expression)}`)
    return result.length === 1
  }

  async stop(): Promise<void> {
    await this.#program.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #ask(path: string): Promise<ResponseData> {
    const response = await fetch(`${this.#url}/api/v1/${path}`)
    const { status, data, error } = (await response.json()) as { status: string; data: ResponseData; error?: string }
    assert.equal(status, 'success', error)
    return data
  }
}

/** The members of the two kinds of response that are read. */
interface ResponseData {
  readonly alerts: readonly { state: string; labels: Labels; annotations: Labels }[]
  readonly result: readonly { metric: Labels }[]
}
