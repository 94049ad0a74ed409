// Our own words: the texts in other languages that the estimate of tokens is held to.

export const LANGUAGES: Readonly<Record<string, string>> = {
  English:
    "The night train left the station a few minutes late, and nobody on the platform seemed to mind. An old man with a violin case had fallen asleep beside the window; two students argued about whether the bridge would be finished before winter. Although the heating did not work, the carriage was warm enough, because so many people had brought soup. When the conductor finally came, she only asked for the tickets of those who were awake. Please review the attached report, summarise its main findings in three short paragraphs, and point out any assumption that is not supported by the data. If something is unclear, ask before you change the file.",
  German:
    "Der Nachtzug verließ den Bahnhof mit einigen Minuten Verspätung, und niemand auf dem Bahnsteig schien sich daran zu stören. Ein alter Mann mit einem Geigenkasten war am Fenster eingeschlafen; zwei Studentinnen stritten darüber, ob die Brücke noch vor dem Winter fertig werde. Obwohl die Heizung nicht funktionierte, war es im Wagen warm genug, weil so viele Leute Suppe mitgebracht hatten. Bitte prüfen Sie den beigefügten Bericht, fassen Sie die wichtigsten Ergebnisse zusammen und weisen Sie auf Annahmen hin, die durch die Daten nicht gestützt werden.",
  French:
    "Le train de nuit a quitté la gare avec quelques minutes de retard, et personne sur le quai ne semblait s'en soucier. Un vieil homme, un étui à violon sur les genoux, s'était endormi près de la fenêtre ; deux étudiantes se disputaient pour savoir si le pont serait achevé avant l'hiver. Bien que le chauffage ne fonctionnât pas, il faisait assez chaud, car beaucoup de voyageurs avaient apporté de la soupe. Veuillez relire le rapport ci-joint et résumer ses conclusions en trois paragraphes.",
  Spanish:
    "El tren nocturno salió de la estación con unos minutos de retraso y a nadie en el andén pareció importarle. Un anciano con un estuche de violín se había quedado dormido junto a la ventana; dos estudiantes discutían si el puente estaría terminado antes del invierno. Aunque la calefacción no funcionaba, el vagón estaba caliente porque muchos viajeros habían traído sopa. Revise el informe adjunto, resuma sus conclusiones y señale cualquier suposición sin respaldo en los datos.",
  Polish:
    "Nocny pociąg opuścił stację z kilkuminutowym opóźnieniem i nikomu na peronie zdawało się to nie przeszkadzać. Stary człowiek z futerałem na skrzypce zasnął przy oknie, a dwie studentki spierały się, czy most zostanie ukończony przed zimą. Chociaż ogrzewanie nie działało, w wagonie było dość ciepło, bo wielu podróżnych przyniosło zupę. Proszę przejrzeć załączony raport i streścić najważniejsze wnioski.",
  Turkish:
    "Gece treni istasyondan birkaç dakika gecikmeyle ayrıldı ve perondaki hiç kimse buna aldırmadı. Elinde keman kutusu olan yaşlı bir adam pencerenin yanında uyuyakalmıştı; iki öğrenci köprünün kıştan önce bitip bitmeyeceğini tartışıyordu. Isıtma çalışmasa da vagon yeterince sıcaktı, çünkü pek çok yolcu yanında çorba getirmişti. Lütfen ekteki raporu inceleyin ve ana bulguları üç kısa paragrafta özetleyin.",
  Vietnamese:
    "Chuyến tàu đêm rời ga chậm vài phút, và dường như không ai trên sân ga bận tâm. Một ông lão ôm hộp đàn vĩ cầm đã ngủ thiếp đi bên cửa sổ; hai sinh viên tranh luận xem cây cầu có hoàn thành trước mùa đông hay không. Tuy hệ thống sưởi không hoạt động, toa tàu vẫn đủ ấm vì nhiều người mang theo súp nóng. Vui lòng xem lại báo cáo đính kèm và tóm tắt các kết quả chính.",
  Russian:
    "Ночной поезд ушёл со станции с опозданием в несколько минут, и, казалось, никого на платформе это не беспокоило. Старик с футляром для скрипки заснул у окна; две студентки спорили, успеют ли достроить мост до зимы. Хотя отопление не работало, в вагоне было достаточно тепло, потому что многие пассажиры принесли с собой суп. Пожалуйста, просмотрите приложенный отчёт, кратко изложите основные выводы и укажите предположения, которые не подтверждаются данными.",
  Ukrainian:
    "Нічний потяг вирушив зі станції із запізненням на кілька хвилин, і здавалося, що на пероні це нікого не турбує. Старий чоловік із футляром від скрипки заснув біля вікна, а дві студентки сперечалися, чи встигнуть добудувати міст до зими. Хоча опалення не працювало, у вагоні було досить тепло, бо багато хто приніс із собою суп. Будь ласка, перегляньте доданий звіт і стисло викладіть висновки.",
  Greek:
    "Το νυχτερινό τρένο έφυγε από τον σταθμό με λίγα λεπτά καθυστέρηση και κανείς στην αποβάθρα δεν φάνηκε να ενοχλείται. Ένας γέρος με μια θήκη βιολιού είχε αποκοιμηθεί δίπλα στο παράθυρο· δύο φοιτήτριες διαφωνούσαν αν η γέφυρα θα τελείωνε πριν από τον χειμώνα. Παρακαλώ ελέγξτε τη συνημμένη αναφορά και συνοψίστε τα κύρια ευρήματα.",
  Hebrew:
    "רכבת הלילה יצאה מהתחנה באיחור של כמה דקות, ונדמה שאיש על הרציף לא התרגש מכך. זקן עם נרתיק של כינור נרדם ליד החלון; שתי סטודנטיות התווכחו אם הגשר יושלם לפני החורף. אף שהחימום לא פעל, היה חם למדי בקרון, כי נוסעים רבים הביאו איתם מרק. אנא עברו על הדוח המצורף וסכמו את הממצאים העיקריים.",
  Arabic:
    "غادر قطار الليل المحطة متأخرا بضع دقائق، ولم يبد أن أحدا على الرصيف قد انزعج من ذلك. كان رجل عجوز يحمل حقيبة كمان قد غلبه النوم قرب النافذة، وكانت طالبتان تتجادلان حول ما إذا كان الجسر سيكتمل قبل الشتاء. ومع أن التدفئة لم تكن تعمل فقد كانت العربة دافئة، لأن كثيرا من الركاب أحضروا معهم الحساء. يرجى مراجعة التقرير المرفق وتلخيص نتائجه الرئيسية في ثلاث فقرات قصيرة.",
  Persian:
    "قطار شب با چند دقیقه تأخیر ایستگاه را ترک کرد و به نظر نمی‌رسید کسی روی سکو از این موضوع ناراحت باشد. پیرمردی با جعبه ویولن کنار پنجره به خواب رفته بود و دو دانشجو بحث می‌کردند که آیا پل پیش از زمستان تمام می‌شود یا نه. لطفاً گزارش پیوست را بررسی کنید و یافته‌های اصلی را خلاصه کنید.",
  Hindi:
    "रात की गाड़ी कुछ मिनट की देरी से स्टेशन से निकली और प्लेटफ़ॉर्म पर किसी को इससे परेशानी नहीं हुई। वायलिन का डिब्बा लिए एक बूढ़ा आदमी खिड़की के पास सो गया था; दो छात्राएँ इस बात पर बहस कर रही थीं कि पुल सर्दियों से पहले पूरा होगा या नहीं। कृपया संलग्न रिपोर्ट की समीक्षा करें और उसके मुख्य निष्कर्ष तीन छोटे अनुच्छेदों में लिखें।",
  Thai: "รถไฟเที่ยวกลางคืนออกจากสถานีช้าไปไม่กี่นาที และดูเหมือนว่าไม่มีใครบนชานชาลาสนใจ ชายชราคนหนึ่งกอดกล่องไวโอลินหลับอยู่ข้างหน้าต่าง นักศึกษาสองคนเถียงกันว่าสะพานจะสร้างเสร็จก่อนฤดูหนาวหรือไม่ โปรดตรวจสอบรายงานที่แนบมาและสรุปผลสำคัญเป็นย่อหน้าสั้น ๆ",
  "Chinese, simplified":
    "夜班火车晚了几分钟才离开车站，站台上似乎没有人在意。一位带着小提琴盒的老人在窗边睡着了；两个学生在争论那座桥能不能在冬天之前完工。虽然暖气坏了，车厢里还是够暖和的，因为很多人带了热汤。列车员终于来的时候，只查了醒着的人的车票。请审阅附件中的报告，用三个简短的段落概括主要结论，并指出没有数据支持的假设。如果有不清楚的地方，修改文件之前请先提问。",
  "Chinese, traditional":
    "夜班火車晚了幾分鐘才離開車站，月臺上似乎沒有人在意。一位帶著小提琴盒的老人在窗邊睡著了；兩個學生在爭論那座橋能不能在冬天之前完工。雖然暖氣壞了，車廂裡還是夠暖和的，因為很多人帶了熱湯。請審閱附件中的報告，用三個簡短的段落概括主要結論，並指出沒有資料支持的假設。",
  Japanese:
    "夜行列車は数分遅れて駅を出たが、ホームにいた人は誰も気にしていないようだった。バイオリンのケースを抱えた老人が窓のそばで眠り込み、二人の学生は橋が冬までに完成するかどうかを言い争っていた。暖房は壊れていたけれど、多くの乗客がスープを持ってきていたので、車内は十分に暖かかった。添付の報告書を確認し、主な結論を三つの短い段落にまとめてください。データで裏付けられていない仮定があれば指摘してください。",
  Korean:
    "야간열차는 몇 분 늦게 역을 떠났지만 승강장에 있던 사람들은 아무도 신경 쓰지 않는 듯했다. 바이올린 케이스를 안은 노인은 창가에서 잠이 들었고, 두 학생은 겨울이 오기 전에 다리가 완공될지를 두고 다투었다. 난방은 고장 났지만 많은 승객이 수프를 가져온 덕분에 객차 안은 충분히 따뜻했다. 첨부된 보고서를 검토하고 주요 결과를 세 개의 짧은 문단으로 요약해 주세요.",
  emoji:
    "Great job everyone! 🎉🎉 The release is out 🚀 and the tests are green ✅✅✅. Who brings cake? 🍰😋 Thumbs up 👍🏽 if you can come, 👎 if not. Family picnic on Sunday 👨‍👩‍👧‍👦☀️, rain date next week 🌧️➡️🌤️. Thanks 🙏❤️ 😂😂😂 🔥🔥 💯 See you 👋🏻",
};
