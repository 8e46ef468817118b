import { minute, second } from '../../../src/base/time/duration.ts'
import { BusyCalls } from './calls.ts'
import { BusyChat, type ChatTools } from './chats.ts'
import type { BusyClock } from './clock.ts'
import { buttonsMessage, listMessage, marketingTemplate, orderTemplate, textOf } from './messages.ts'
import { makeCustomers, people } from './people.ts'
import { arabicText, hebrewText, longText, markedText } from './texts.ts'
import { busyIds } from './world.ts'

/** The last twenty minutes: what stands at the end of the chats that the console opens, and everything that can go wrong for a message. */
export async function playScene(
  tools: ChatTools,
  clock: BusyClock,
  settle: () => Promise<void>,
  end: number,
): Promise<void> {
  const { doors, files } = tools
  const chatOf = ({ wa_id }: { readonly wa_id: string }) => new BusyChat(tools, busyIds.number, wa_id)
  // Webhooks leave before time goes on.
  const pass = async (milliseconds: number) => {
    await settle()
    clock.moveTo(Math.min(end, clock.now() + milliseconds))
  }
  const ada = chatOf(people.ada)

  const asked = await ada.write(textOf('Do you still have the big monstera?'))
  await pass(40 * second)
  await ada.send({ ...textOf('We do. This one arrived today:'), context: { message_id: asked } })
  const [photo = ''] = files.photos
  await ada.send({ type: 'image', image: { id: photo, caption: 'Monstera, *1.20 m*' } })
  await pass(minute)
  await ada.write({ type: 'reaction', reaction: { message_id: asked, emoji: '❤️' } })
  await ada.write({ type: 'audio', audio: { id: files.voice, mime_type: 'audio/ogg; codecs=opus', voice: true } })
  await pass(minute)
  const choice = await ada.send(buttonsMessage)
  await pass(30 * second)
  await doors.gateway(`messages/${choice}`, { action: 'press', choice: 'choice-0' })
  await pass(minute)
  await ada.send(textOf(markedText))
  await ada.send(orderTemplate)
  await ada.send({ type: 'document', document: { id: files.document, filename: 'Invoice A7.pdf' } })
  await ada.send(listMessage)

  await pass(minute)
  const arabic = chatOf(people.arabic)
  await arabic.write(textOf(arabicText))
  await pass(20 * second)
  await arabic.send(textOf('نعم، لدينا اثنتان. هل تفضل التوصيل أم الاستلام؟'))
  await arabic.write(textOf('Order A7 is mine, طلبي A7، شكرا!'))
  const hebrew = chatOf(people.hebrew)
  await hebrew.write(textOf(hebrewText))
  await hebrew.send(textOf(longText))

  await pass(minute)
  await playGroup(tools)
  await playFailures(tools, chatOf)
  const calls = new BusyCalls(doors, clock, settle)
  const [customer] = makeCustomers(1)
  await calls.accept(await calls.callBusiness(customer?.wa_id ?? ''))
  // From now on what arrives stays unread until somebody looks at the phone.
  await doors.gateway(`users/${people.ada.wa_id}`, { auto_read: false })
  await pass(2 * minute)
  await ada.send(textOf('Shall we send you a reminder on Friday?'))
  await settle()
  clock.moveTo(end)
}

async function playGroup({ doors }: ChatTools): Promise<void> {
  const write = (from: string, body: string) =>
    doors.gateway('messages', { group_id: busyIds.group, from, ...textOf(body) })
  await write(people.arabic.wa_id, 'هل نلتقي يوم السبت؟')
  await write(people.long.wa_id, 'Saturday at ten works for me.')
  await write(people.script.wa_id, 'And who brings the <b>spades</b>?')
  const all = { recipient_type: 'group', to: busyIds.group }
  await doors.business(`${busyIds.number}/messages`, { ...all, ...textOf('We do. *See you all on Saturday!*') })
}

/** A phone that is off, one that cannot be reached, a user who blocked the business, one who never wrote, and one who wants no offers. */
async function playFailures(
  { doors }: ChatTools,
  chatOf: (person: { readonly wa_id: string }) => BusyChat,
): Promise<void> {
  await chatOf(people.offline).write(textOf('I switch my phone off now.'))
  await chatOf(people.offline).send(textOf('This waits until your phone is on again.'))
  await chatOf(people.blocking).write(textOf('Please stop writing.'))
  const chat = `users/${people.blocking.wa_id}/chats/${busyIds.number}`
  await doors.gateway(chat, { blocked: true })
  await chatOf(people.blocking).send(textOf('This never reaches you.'))
  await doors.gateway(`users/${people.stopped.wa_id}/chats/${busyIds.number}`, { marketing: 'stop' })
  await chatOf(people.stopped).send(marketingTemplate)
  await chatOf(people.silent).send(textOf('This comes too late for the service window.'))
  await chatOf(people.unreachable).send(orderTemplate)
  const failed = await chatOf(people.nameless).send(orderTemplate)
  await doors.gateway(`messages/${failed}`, { action: 'fail', code: 131_026 })
}
