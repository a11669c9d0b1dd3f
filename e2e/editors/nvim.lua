-- Edits a memory directory in Neovim with mem-lsp attached, as a person would: looks
-- at diagnostics, takes two code actions, saves, and undoes one in the editor. What
-- it saw goes to the file $MEM_RESULT as JSON; editors_test.go judges it.
--
-- MEM_LSP is the server, MEM_DIR the directory. Works with Neovim 0.7 and later.

local out = { steps = {} }
local dir = os.getenv('MEM_DIR')

local function finish(err)
  out.error = err
  local f = assert(io.open(os.getenv('MEM_RESULT'), 'w'))
  f:write(vim.fn.json_encode(out))
  f:close()
  vim.cmd('qa!')
end

local function wait(what, ready)
  if not vim.wait(8000, ready, 5) then error('waited in vain for ' .. what) end
end

local function open(name)
  vim.cmd('edit ' .. vim.fn.fnameescape(dir .. '/' .. name))
  return vim.api.nvim_get_current_buf()
end

local function lines(buf) return vim.api.nvim_buf_get_lines(buf, 0, -1, false) end

local function codes(buf)
  local seen = {}
  for _, d in ipairs(vim.diagnostic.get(buf)) do
    table.insert(seen, { code = d.code, line = d.lnum + 1, severity = d.severity, message = d.message,
      tags = d.user_data and d.user_data.lsp and d.user_data.lsp.tags, source = d.source })
  end
  return seen
end

local function has(buf, code)
  for _, d in ipairs(vim.diagnostic.get(buf)) do if d.code == code then return true end end
  return false
end

-- take opens the code actions at a line and takes the first whose title matches.
local function take(line, kind, pattern)
  vim.api.nvim_win_set_cursor(0, { line, 0 })
  local titles = {}
  local select = vim.ui.select
  local chosen = nil
  vim.ui.select = function(items, opts, on_choice)
    for _, item in ipairs(items) do
      local action = item.action or item[2]
      table.insert(titles, action.title)
      if not chosen and action.title:find(pattern) then chosen = item end
    end
    on_choice(chosen)
  end
  if vim.fn.has('nvim-0.8') == 1 then
    vim.lsp.buf.code_action({ context = { only = { kind }, diagnostics = vim.lsp.diagnostic.get_line_diagnostics() } })
  else
    vim.lsp.buf.code_action({ only = { kind }, diagnostics = vim.lsp.diagnostic.get_line_diagnostics() })
  end
  wait('code actions', function() return #titles > 0 end)
  vim.ui.select = select
  if not chosen then error('no action matches ' .. pattern .. ': ' .. vim.fn.json_encode(titles)) end
  return titles
end

local ok, err = xpcall(function()
  vim.o.hidden = true
  vim.o.swapfile = false
  local index = open('MEMORY.md')
  local id = vim.lsp.start_client({ name = 'mem', cmd = { os.getenv('MEM_LSP') }, root_dir = dir })
  assert(vim.lsp.buf_attach_client(index, id))
  wait('a diagnostic of the index', function() return has(index, 'index-too-long') end)
  out.index = codes(index)
  local client = vim.lsp.get_client_by_id(id)
  out.encoding = client.offset_encoding

  local topic = open('testing.md')
  vim.lsp.buf_attach_client(topic, id)
  wait('a diagnostic of the topic', function() return has(topic, 'type-unknown') end)
  out.topic = codes(topic)
  local line = 1
  for i, l in ipairs(lines(topic)) do if l:find('^type:') then line = i end end
  out.quickfixes = take(line, 'quickfix', 'feedback')
  wait('the fix of the type', function() return not has(topic, 'type-unknown') end)
  vim.cmd('write')

  vim.cmd('buffer ' .. index)
  local before = table.concat(lines(index), '\n')
  out.extracts = take(#lines(index), 'refactor.extract', '.')
  wait('the index to fit', function() return table.concat(lines(index), '\n') ~= before and not has(index, 'index-too-long') end)
  vim.cmd('wall') -- this Neovim tells the server nothing of a new buffer before it is saved
  wait('the new topic to be seen', function() return not has(index, 'broken-link') end)
  out.after = codes(index)
  out.buffers = {}
  for _, b in ipairs(vim.api.nvim_list_bufs()) do table.insert(out.buffers, vim.api.nvim_buf_get_name(b)) end

  -- A hover and a completion, with text before them that counts differently in each encoding.
  vim.api.nvim_buf_set_lines(index, 0, 0, false, { '# 记忆 😀', '', '- [😀 Testing](testing.md) — 测试' })
  local td = { uri = vim.uri_from_bufnr(index) }
  local function ask(method, params)
    local r = client.request_sync(method, params, 5000, index)
    if not r or r.err then error(method .. ': ' .. vim.inspect(r)) end
    return r.result
  end
  local character = vim.str_byteindex and #'- [😀 Testing](test'
  if client.offset_encoding == 'utf-16' then character = vim.fn.strchars('- [😀 Testing](test') + 1 end
  local at = { textDocument = td, position = { line = 2, character = character } }
  out.hover = ask('textDocument/hover', at)
  out.definition = ask('textDocument/definition', at)
  out.completion = ask('textDocument/completion', at)
  vim.cmd('silent undo')

  -- The extraction is undone in the editor.
  vim.cmd('silent undo')
  out.undone = table.concat(lines(index), '\n') == before
  wait('the diagnostic to come back', function() return has(index, 'index-too-long') end)

  client.notify('mem/unknown', { a = 1 })
  client.notify('$/unknown', vim.empty_dict())
  vim.wait(50)
  out.alive = not client.is_stopped()
  client.stop()
  wait('the server to stop', function() return client.is_stopped() end)
end, debug.traceback)
finish(not ok and err or nil)
