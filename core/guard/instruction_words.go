package guard

// instructionWords are the classes that patterns name with @. Words are in lower case, without apostrophes and
// underscores; a word of Chinese characters is found wherever it stands, the longest one first.
var instructionWords = map[string]string{
	// What may stand before an imperative: manners, urgency, and who is meant.
	"lead": `please kindly now then just also immediately simply must should shall will you i want need have to would like are is it very
		important critical essential imperative first next instead so therefore ok okay hey hi dear claude chatgpt assistant ai model agent do
		let us lets attention urgently
		请 請 你 您 必须 必須 应该 應該 应当 要 需要 务必 務必 现在 現在 立即 立刻 马上 馬上 从现在起 从现在开始 從現在起 首先 然后 接着 就 都 也 并 给我 助手`,
	"neg": `not never no dont doesnt didnt cannot cant wont shouldnt mustnt without avoid nor refuse refuses reject rejects stop prevent prevents nobody nothing
		不 不要 別 别 勿 不得 切勿 禁止 不能 不可 避免 绝不 從不 从不 不会 不應 不应 拒绝 防止 严禁`,
	// What may follow a complete command without narrowing it.
	"goOn": `and or but then so you i we because since immediately now completely entirely fully instead verbatim exactly word back above below as
		并 並 并且 和 及 与 以及 然后 然後 而 现在 現在 你 您 改为 转而 吧 了 立即`,
	"not":    "not dont never mustnt shouldnt 不要 別 别 不得 切勿 请勿 請勿 禁止 勿 不可 不许",
	"ignore": "ignore disregard forget override overrule bypass 忽略 无视 無視 忘记 忘記 忘掉 忽视 抛弃 不理会 不要理会 不要遵守 不再遵守 停止遵守 不要遵循 绕过",
	"fill": `the all any every each everything of the your my our these those that this other such given were was have been are from i me into out just simply
		的 所有 全部 一切 任何 你 您 你的 您的 了 掉 我 给 給 到 过 其他 这些 那些 我的 一下 和`,
	"all":    "all any every each 所有 全部 一切 任何",
	"your":   "your 你的 您的",
	"prev":   "previous prior above earlier preceding foregoing former past initial original existing 之前 以前 先前 上面 以上 上述 此前 前面 原有 原来 原先 早先",
	"order":  "instruction instructions directive directives prompt prompts orders programming 指令 指示 提示词 提示詞 系统提示 系統提示 系统提示词",
	"rule":   "rule rules guideline guidelines guidance restriction restrictions constraint constraints policy policies message messages context commands 规则 規則 规定 要求 限制 约束 設定 设定 准则 内容 內容 对话 提示 命令",
	"own":    "instruction instructions directive directives programming training guideline guidelines rules restrictions constraints limitations safeguards filters alignment systemprompt prompts 指令 指示 限制 约束 规则 規則 设定 準則 准则 训练 提示词 系统提示词 系统提示",
	"system": "system systems developer 系统 系統",
	"prompt": "prompt prompts message messages instruction instructions",
	"persona": `ai assistant model bot chatbot hacker dan persona interpreter unrestricted unfiltered uncensored jailbroken evil gpt chatgpt llm agent
		助手 黑客 模型 机器人 人工智能 角色 不受限制 没有限制 无限制 不受约束`,
	"free":   "dan unrestricted unfiltered uncensored jailbroken evil amoral 不受限制 没有限制 无限制 不受约束",
	"art":    "a an the my called named acting 一个 一名 一位",
	"run":    "run execute eval launch invoke perform 执行 執行 运行 運行",
	"these":  "following this these below next 以下 下列 下面 这些 这条 此 如下",
	"thing":  "command commands code script scripts payload shell 命令 代码 脚本 指令",
	"where":  "in the your a terminal shell console now immediately bash first using 的 中 里 终端 在",
	"urgent": "immediately urgently silently secretly covertly 立即 立刻 马上 馬上 悄悄 偷偷 暗中",
	"covert": "secretly covertly surreptitiously 悄悄 偷偷 暗中 秘密",
	"destroy": `delete install disable remove modify copy run execute add insert append overwrite commit push download
		删除 安装 禁用 修改 复制 执行 运行 添加 下载`,
	"send": `send post upload forward email mail transmit submit exfiltrate leak deliver relay transfer
		发送 發送 上传 上傳 提交 转发 轉發 发布 传输 泄露 发 传 传送`,
	"fetch":  "fetch request open visit call load query get curl 访问 请求 打开",
	"reader": "reveal leak print output display repeat show dump expose recite tell disclose divulge 泄露 洩露 输出 輸出 打印 显示 顯示 透露 展示 重复 告诉 复述 说出",
	"dump":   "print output dump reveal leak display echo cat paste 打印 输出 泄露 透露 列出 读取",
	"secret": "SECRET idrsa ided25519",
	"creds":  "credentials passwords password secrets tokens keys apikeys 密钥 密码 凭证 凭据 令牌 口令 私钥 密鑰 密碼",
	"locker": "passwords credentials secrets apikeys 密钥 密码 凭证 凭据 口令 私钥",
	"envvar": "variables variable vars",
	"reply":  "reply response answer output chat message conversation comment 回复 回答 对话 回覆 消息",
	"place":  "url address endpoint webhook server email site website inbox 地址 网址 链接 服务器 邮箱 接口",
	"user":   "user users human humans operator anyone anybody everyone 用户 用戶 任何人 他人 人类 主人 使用者",
	"this":   "this that it these any 这 此 这件事 此事 这一点 这些 这个 這件事 本 以上 上述",
	"note":   "message instruction instructions step note action comment memory prompt request text 指令 消息 内容 操作 步骤",
	"shell":  "bash sh zsh dash ksh fish iex pwsh powershell eval",
	"get":    "curl wget iwr irm base64",
	"llm":    "ai ais llm llms assistant assistants agent agents model models chatbot chatbots bot gpt",
	"read":   "reading processing parsing summarizing summarising ingesting analyzing analysing",
}

// instructionMacros are what stands for {name} in a pattern, one pattern each.
var instructionMacros = map[string][]string{
	// Data that nobody sends anywhere for an honest reason, or that is called theirs or all there is.
	"loot": {
		"@secret", "environment|env @envvar", "环境变量|私钥|密钥文件|对话内容|对话记录|聊天记录|会话内容",
		"private key|keys", "ssh|gpg keys", "this|our|your ..1 conversation|transcript|chat",
		"your ..1 memories|instructions|prompt|systemprompt|context", "@your ..2 系统提示词|指令|记忆",
		"all|any|every|your|found|stolen ..3 @creds", "user|users|their ..1 credentials|passwords|password|secrets",
		"all|any|every api key|keys", "所有|全部|任何|用户的|你的 ..3 @creds",
	},
	"to": {"..8 DEST", "..6 following|below|attacker|attackers|my|external|以下|下面 的? @place"},
}
