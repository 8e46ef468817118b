import assert from 'node:assert/strict'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { checkTypes, makeProject, type Project, packWorkspaces, root, runFile } from '../../sdk/test/harness-pack.ts'
import { type Runner, readExamples, runExample, runners } from './runners.ts'

/** The packages from their tarballs, in a project that has nothing else but runners, on every Node that they are for. */
describe('the packed testing library', () => {
  let packed: { folder: string; tarballs: string[] }
  let project: Project
  const nodes = new Map<string, string>()

  before(async () => {
    packed = await packWorkspaces(['sdk', 'server', 'voice', 'testing'])
    const { devDependencies } = JSON.parse(await readFile(join(root, 'testing/package.json'), 'utf8'))
    const found = ['vitest', 'jest'].map((name) => `${name}@${devDependencies[name]}`)
    project = await makeProject([...packed.tarballs, ...found, 'ts-jest@29', 'typescript@5', '@types/jest@30'])
    for (const major of ['20', '22', '24']) nodes.set(major, await installNode(project.folder, major))
  })
  after(async () => {
    await project.remove()
    await rm(packed.folder, { recursive: true, force: true })
  })

  for (const major of ['20', '22', '24']) {
    for (const runner of Object.keys(runners) as Runner[]) {
      for (const form of ['module', 'commonjs'] as const) {
        test(`the packed testing library passes its README's example on Node ${major} with ${runner}, as ${form}`, async () => {
          await runExample({ project: project.folder, node: nodes.get(major) ?? '', runner, form })
        })
      }
    }
  }

  for (const major of ['20', '22', '24']) {
    for (const form of ['module', 'commonjs'] as const) {
      test(`the packed testing library passes its README's example of a call on Node ${major}, as ${form}`, async () => {
        const example = { name: 'call.test.js', passed: /^# pass 1$/m }
        const node = nodes.get(major) ?? ''
        await runExample({ project: project.folder, node, runner: 'node', form, example })
      })
    }
  }

  for (const runner of ['vitest', 'jest'] as const) {
    for (const form of ['module', 'commonjs'] as const) {
      if (runner === 'vitest' && form === 'commonjs') continue
      test(`the packed testing library makes calls with sound under ${runner}, as ${form}`, async () => {
        const folder = join(project.folder, `call-${runner}-${form}`)
        await mkdir(folder)
        await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: form }))
        const load = (names: string, from: string) =>
          form === 'module' ? `import ${names} from '${from}'` : `const ${names} = require('${from}')`
        await writeFile(
          join(folder, 'call.test.js'),
          `${runner === 'vitest' ? load('{ expect, test }', 'vitest') : ''}
           ${load('{ useSwitchboard }', `@switchboard/testing/${runner}`)}
           ${load('{ Agent, makeTone }', '@switchboard/voice')}
           const sb = useSwitchboard()
           test('hears the agent', async () => {
             const { client, url, number } = sb
             const options = { mode: 'tone', makeSource: () => makeTone(523), takesCalls: true, addresses: ['127.0.0.1'] }
             const agent = await Agent.open({ client, url, number, ...options, onEvent() {} })
             const { heard } = await sb.user('16505551234').call({ for: '2s' })
             await agent.close()
             expect(Math.abs(heard.hz - 523)).toBeLessThanOrEqual(5)
           }, 60_000)`,
        )
        const { program, inModules, passed } = runners[runner]
        const flags = form === 'module' ? inModules : []
        const options = { cwd: folder, env: { ...process.env, NODE_OPTIONS: '' } }
        const { stdout } = await runFile(nodes.get('22') ?? '', [...flags, ...program], options).catch(
          ({ stdout, stderr }) => assert.fail(`${stdout}${stderr}`),
        )
        assert.match(stdout, passed)
      })
    }
  }

  test('the packed testing library runs under ts-jest, and its types fit there', async () => {
    const folder = join(project.folder, 'ts-jest')
    await mkdir(folder)
    const compilerOptions = {
      module: 'commonjs',
      moduleResolution: 'node10',
      target: 'es2022',
      strict: true,
      types: ['jest'],
    }
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, jest: { preset: 'ts-jest' } }))
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
    await writeFile(
      join(folder, 'bot.test.ts'),
      `import { APIError } from '@switchboard/client'
       import { type World, type TestSwitchboard, NothingCame } from '@switchboard/testing'
       import { useSwitchboard } from '@switchboard/testing/jest'
       const world: World = {
         businesses: [{ id: '2000000000000009', name: 'Two' }],
         accounts: [{ id: '1000000000000009', business_id: '2000000000000009', name: 'Two',
           phone_numbers: [{ id: '4000000000000009', display_phone_number: '+1 631-555-1009', registered: true }] }],
       }
       const sb: TestSwitchboard = useSwitchboard({ world })
       test('types and classes are those of one package', async () => {
         await sb.user('16505551234').write(sb.number, 'Hi')
         const { value } = await sb.waitForEvent({ field: 'messages', kind: 'text' })
         expect(value.messages[0].text.body).toBe('Hi')
         await expect(sb.client.accounts.retrieve('1')).rejects.toBeInstanceOf(APIError)
         await expect(sb.waitForEvent({ field: 'calls', timeout: 1 })).rejects.toBeInstanceOf(NothingCame)
       })`,
    )
    const { stderr } = await runFile(nodes.get('22') ?? '', ['../node_modules/jest/bin/jest.js'], {
      cwd: folder,
    }).catch(({ stdout, stderr }) => assert.fail(`${stdout}${stderr}`))
    assert.match(stderr, /Tests: +1 passed, 1 total/)
  })

  test('the packed testing library is one copy in a process, whether it is imported or required', async () => {
    await project.write(
      'both.mjs',
      `import { createRequire } from 'node:module'
       import * as client from '@switchboard/client'
       import * as testing from '@switchboard/testing'
       const require = createRequire(import.meta.url)
       console.log(client.APIError === require('@switchboard/client').APIError, testing.NothingCame === require('@switchboard/testing').NothingCame)`,
    )
    for (const node of nodes.values()) {
      const { stdout } = await runFile(node, ['--no-warnings', 'both.mjs'], { cwd: project.folder })
      assert.equal(stdout, 'true true\n', node)
    }
  })

  /** How each runner shows a test whose waits take longer than its limit. */
  for (const runner of ['vitest', 'jest'] as const) {
    test(`the packed testing library says what was missing when ${runner} ends a test first`, async () => {
      const folder = join(project.folder, `slow-${runner}`)
      await mkdir(folder)
      await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "commonjs" }')
      await writeFile(join(folder, 'bot.js'), (await readExamples()).get('bot.js') ?? '')
      const first = runner === 'vitest' ? "import { test } from 'vitest'\nimport" : 'const'
      const from = runner === 'vitest' ? `from '@switchboard/testing/vitest'` : `= require('@switchboard/testing/jest')`
      await writeFile(
        join(folder, 'slow.test.js'),
        `${first} { useSwitchboard } ${from}
         const sb = useSwitchboard()
         test('waits too long', async () => {
           const phone = sb.user('16505551234')
           await phone.write(sb.number, 'Hello?')
           await phone.waitForMessage({ text: 'Never', timeout: 60_000 })
         }, 700)
         test('waits in vain', () => sb.user('16505551234').waitForMessage({ text: 'Never' }))`,
      )
      const [file = '', ...flags] = runners[runner].program
      const options = { cwd: folder, env: { ...process.env, NODE_OPTIONS: '' } }
      const { stdout } = await runFile(nodes.get('24') ?? '', [file, ...flags], options).catch((failed) => failed)
      assert.match(stdout, /no message \{ text: 'Never' \} to 16505551234 had come when the test ended\./)
      assert.match(stdout, /no message \{ text: 'Never' \} to 16505551234 came within 4000 ms\./)
    })
  }

  test('the packed testing library says how to install the server where there is none', async () => {
    const others = packed.tarballs.filter((path) => !path.includes('server'))
    const alone = await makeProject(others, ['--offline'])
    try {
      await alone.write(
        'program.js',
        "import { createSwitchboard } from '@switchboard/testing'\nawait createSwitchboard()",
      )
      await assert.rejects(runFile(process.execPath, ['program.js'], { cwd: alone.folder, env: withoutCommand() }), {
        stderr: /no Switchboard server was found\. .*\n {2}npm i -D @switchboard\/server\n.*SWITCHBOARD_COMMAND.*`url`/,
      })
    } finally {
      await alone.remove()
    }
  })

  test('the packed testing library says how to install voice where there is none, by import and by require', async () => {
    const alone = await makeProject(
      packed.tarballs.filter((path) => /client|testing/.test(path)),
      ['--offline'],
    )
    try {
      const call = `(async () => {
        const sb = await createSwitchboard()
        await sb.user('16505551234').call({ for: 100 }).catch(({ message }) => console.log(message))
        await sb.close()
      })()`
      await alone.write('program.mjs', `import { createSwitchboard } from '@switchboard/testing';\n${call}`)
      await alone.write('program.cjs', `const { createSwitchboard } = require('@switchboard/testing');\n${call}`)
      const env = { ...process.env, SWITCHBOARD_COMMAND: join(root, 'switchboard') }
      for (const args of [['program.mjs'], ['program.cjs'], ['--no-experimental-require-module', 'program.cjs']]) {
        const { stdout } = await runFile(process.execPath, args, { cwd: alone.folder, env })
        assert.match(
          stdout,
          /need the package @switchboard\/voice, which is not installed:\n\n {2}npm i -D @switchboard\/voice/,
        )
      }
      await useNodeTypes(alone.folder)
      await alone.write(
        'program.ts',
        `import { createSwitchboard, type SoundCallResult } from '@switchboard/testing'
         const sb = await createSwitchboard()
         const result: SoundCallResult = await sb.user('1').call({ audio: 'question.wav', for: '5s' })
         // @ts-expect-error: what is no member of a request
         void sb.user('1').call({ sound: 'question.wav' })
         void result`,
      )
      await checkTypes(alone.folder, { lib: ['es2022'], types: ['node'] })
    } finally {
      await alone.remove()
    }
  })

  const program = `
    import { createSwitchboard } from '@switchboard/testing'
    const sb = await createSwitchboard()
    const phone = sb.user('16505551234')
    await phone.write(sb.number, 'Hi')
    await sb.waitForEvent({ field: 'messages', kind: 'text' })
    await sb.client.messages.send(sb.number, { to: phone.wa_id, text: { body: 'Hello' } })
    await phone.waitForMessage({ text: 'Hello' })
    await sb.close()
  `

  test('the packed testing library prepares the demo world anew when the clone has another one', async () => {
    const clone = join(project.folder, 'clone')
    await mkdir(join(clone, 'worlds'), { recursive: true })
    const command = join(clone, 'switchboard')
    const log = join(clone, 'log')
    await writeFile(command, `#!/bin/sh\necho "$1" >> '${log}'\nexec '${root}/switchboard' "$@"\n`, { mode: 0o755 })
    await project.write('program.js', program)
    const starts: number[] = []
    for (const demo of ['# one', '# one', '# another']) {
      await writeFile(join(clone, 'worlds/demo.yaml'), demo)
      await writeFile(log, '')
      const env = { ...process.env, SWITCHBOARD_COMMAND: command }
      await runFile(process.execPath, ['program.js'], { cwd: project.folder, env })
      starts.push((await readFile(log, 'utf8')).trim().split('\n').length)
    }
    assert.deepEqual(starts, [2, 1, 2])
  })

  for (const form of ['module', 'commonjs'] as const) {
    test(`the packed testing library has types that fit, and nothing skipped, as ${form}`, async () => {
      const folder = join(project.folder, `types-${form}`)
      await mkdir(folder)
      await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: form }))
      await useNodeTypes(folder)
      const text = `
        import { createSwitchboard, type World } from '@switchboard/testing'
        import { useSwitchboard as useInJest } from '@switchboard/testing/jest'
        import { useSwitchboard } from '@switchboard/testing/node'
        const world: World = { businesses: [{ id: '2000000000000009', name: 'Two' }] }
        // @ts-expect-error: it is no key of the world file
        const wrong: World = { business: [] }
        void [wrong, createSwitchboard({ world }), useSwitchboard({ connect: (sb) => sb.url }), useInJest()]
      `
      await writeFile(join(folder, 'program.ts'), text)
      await checkTypes(folder, { lib: ['es2022'], types: ['node'] })
    })
  }
})

async function useNodeTypes(folder: string): Promise<void> {
  for (const name of ['@types/node', 'undici-types']) {
    await cp(join(root, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true })
  }
}

async function installNode(folder: string, major: string): Promise<string> {
  const place = join(folder, `node-${major}`)
  await mkdir(place)
  await writeFile(join(place, 'package.json'), '{ "private": true }')
  await runFile('npm', ['install', '--loglevel=error', '--no-audit', '--no-fund', `node@${major}`], { cwd: place })
  return join(place, 'node_modules/.bin/node')
}

function withoutCommand(): NodeJS.ProcessEnv {
  const { SWITCHBOARD_COMMAND: _command, ...env } = process.env
  return env
}
