const sentence =
  'The monstera by the window has grown a new leaf, and the fern next to it wants a bigger pot before winter. '

/** What people write: short, long, in several scripts and directions, with the marks of the app and with those of HTML. */
export const texts: readonly string[] = [
  'Hello, are the ferns still there?',
  'Yes, they are. Shall we put two aside for you?',
  'مرحبا، هل ما زالت النباتات متوفرة؟ أريد اثنتين من فضلك.',
  'שלום, האם השרכים עדיין במלאי?',
  '*Opening hours*\n- Monday to Friday: 9–18\n- Saturday: 10–14\n\n> Closed on _public holidays_\n\n`A7` is the code of ~your~ the order.',
  '👍',
  '🌵🌿🪴',
  '<script>document.title="taken"</script>',
  '<img src=x onerror="document.title=\'taken\'"> & "quotes" \'too\'',
  sentence.repeat(19).trim(),
  'https://luckyshrub.example/orders/A7?ref=chat&utm_source=switchboard#track',
  'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(2),
  'ありがとうございます。土曜日に伺います。',
  'Order A7 is ready. طلبك A7 جاهز. ההזמנה A7 מוכנה.',
  'Line one\nLine two\n\n\nLine five',
  'ok',
  'Thank you! See you on Saturday 🙂',
  '```const fern = await shop.find("fern")```',
]

export const arabicText = texts[2] ?? ''
export const hebrewText = texts[3] ?? ''
export const markedText = texts[4] ?? ''
export const longText = texts[9] ?? ''
