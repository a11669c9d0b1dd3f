-- Works on a memory that a team shares, in Neovim with mem-lsp attached, as a person would
-- who leaves the editor open. Each line on standard input is a JSON list of steps; what was
-- seen of them is one line of JSON on standard output; team_editor_test.go judges.
--
-- A step is one of:
--   { open = file }                       opens, or reads again, and attaches a file of $MEM_DIR
--   { close = file }
--   { dir = directory }                   files are those of this one from here on
--   { replace = text, with = text }       in the open file
--   { append = text }
--   { await = rule } { without = rule }   waits for a finding in the open file to come or go
--   { take = pattern, at = rule }         takes the first code action whose title matches
--   { gone = file }                       waits for a file to be deleted or renamed
--   { command = name, args, answer }      runs mem.snapshot.<name>; answers its question
--   { lens = name }                       runs the command of the lens of that name
--   { save = true }
--   { quit = true }                       stops the server, and Neovim after the answer
local out, dir, answer, quitting

local function wait(what, ready)
  if not vim.wait(15000, ready, 5) then error('waited in vain for ' .. what) end
end

local function finding(buf, rule)
  for _, d in ipairs(vim.diagnostic.get(buf)) do if d.code == rule then return d end end
end

vim.lsp.handlers['window/showMessageRequest'] = function(_, result)
  table.insert(out.questions, result.message)
  for _, a in ipairs(result.actions) do if a.title == answer then return a end end
  return vim.NIL
end
vim.lsp.handlers['window/showMessage'] = function(_, result)
  table.insert(out.messages, result.message)
  return result
end

local id, buf

local function open(name)
  local path = vim.fn.fnameescape(dir .. '/' .. name)
  local known = vim.fn.bufloaded(dir .. '/' .. name) == 1
  vim.cmd('edit! ' .. path)
  if known then vim.cmd('edit!') end -- what is on disk by now
  buf = vim.api.nvim_get_current_buf()
  if not id then id = vim.lsp.start_client({ name = 'mem', cmd = { os.getenv('MEM_LSP') }, root_dir = os.getenv('MEM_ROOT') }) end
  if not vim.lsp.buf_is_attached(buf, id) then assert(vim.lsp.buf_attach_client(buf, id)) end
  wait('the server', function() local c = vim.lsp.get_client_by_id(id); return c and c.initialized end)
end

local function take(pattern, rule)
  wait(rule, function() return finding(buf, rule) end)
  vim.api.nvim_win_set_cursor(0, { finding(buf, rule).lnum + 1, 0 })
  local titles, chosen, done = {}, nil, false
  local select = vim.ui.select
  vim.ui.select = function(items, _, on_choice)
    for _, item in ipairs(items) do
      local action = item.action or item[2]
      table.insert(titles, action.title)
      if not chosen and action.title:find(pattern) then chosen = item end
    end
    on_choice(chosen)
    done = true
  end
  vim.lsp.buf.code_action({ diagnostics = vim.lsp.diagnostic.get_line_diagnostics() })
  wait('code actions', function() return done end)
  vim.ui.select = select
  for _, t in ipairs(titles) do table.insert(out.titles, t) end
  if not chosen then error('no action matches ' .. pattern .. ': ' .. vim.fn.json_encode(titles)) end
end

local function ask(method, params)
  local r = vim.lsp.get_client_by_id(id).request_sync(method, params, 15000, buf)
  if not r then error(method .. ' was not answered') end
  return r.result, r.err
end

local function command(name, args)
  local _, err = ask('workspace/executeCommand', { command = name, arguments = args })
  if err then table.insert(out.errors, err.message) end
end

local function step(s)
  if s.dir then dir = s.dir end
  if s.open then open(s.open) end
  if s.replace or s.append then
    local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
    if s.replace then
      local from, to = text:find(s.replace, 1, true)
      if not from then error(s.replace .. ' is not in ' .. text) end
      text = text:sub(1, from - 1) .. s.with .. text:sub(to + 1)
    else
      text = text .. (text == '' and '' or '\n') .. s.append
    end
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text, '\n', { plain = true }))
  end
  if s.await then wait(s.await, function() return finding(buf, s.await) end) end
  if s.without then wait('no ' .. s.without, function() return not finding(buf, s.without) end) end
  if s.gone then wait('the end of ' .. s.gone, function() return vim.fn.filereadable(dir .. '/' .. s.gone) == 0 end) end
  if s.take then take(s.take, s.at) end
  if s.command or s.lens then
    answer = s.answer
    local questions, messages, errors = #out.questions, #out.messages, #out.errors
    if s.command then
      local args = { vim.uri_from_fname(dir) }
      for _, a in ipairs(s.args or {}) do table.insert(args, a) end
      command('mem.snapshot.' .. s.command, args)
    else
      local found = nil
      for _, lens in ipairs(ask('textDocument/codeLens', { textDocument = { uri = vim.uri_from_bufnr(buf) } })) do
        local full = ask('codeLens/resolve', lens)
        table.insert(out.lenses, full.command.title)
        if full.command.command == 'mem.snapshot.' .. s.lens then found = full.command end
      end
      if not found then error('there is no lens ' .. s.lens .. ': ' .. vim.fn.json_encode(out.lenses)) end
      command(found.command, found.arguments)
    end
    if answer then -- what comes of it is told
      wait('the end of ' .. (s.command or s.lens), function()
        return #out.errors > errors or (#out.messages > messages)
      end)
      assert(#out.questions > questions or #out.messages > messages or #out.errors > errors)
    end
  end
  if s.close then vim.cmd('bwipeout! ' .. vim.fn.fnameescape(dir .. '/' .. s.close)) end
  if s.save then vim.cmd('silent wall') end
  if s.quit then
    quitting = true
    if id then
      local client = vim.lsp.get_client_by_id(id)
      client.stop()
      wait('the server to stop', function() return client.is_stopped() end)
    end
  end
end

vim.o.hidden = true
vim.o.swapfile = false
vim.o.autoread = true

local channel
local function work(line)
  out, dir, answer = { titles = {}, messages = {}, questions = {}, lenses = {}, errors = {} }, os.getenv('MEM_DIR'), nil
  local ok, err = xpcall(function()
    for _, s in ipairs(vim.fn.json_decode(line)) do step(s) end
    local client = id and vim.lsp.get_client_by_id(id)
    out.alive = quitting or client ~= nil and not client.is_stopped()
  end, debug.traceback)
  if not ok then out.error = err end
  vim.fn.chansend(channel, vim.fn.json_encode(out) .. '\n')
  if quitting then vim.cmd('qa!') end
end

local rest = ''
channel = vim.fn.stdioopen({ on_stdin = function(_, data)
  if #data == 1 and data[1] == '' then vim.cmd('qa!') end -- who gave the steps is gone
  data[1] = rest .. data[1]
  rest = table.remove(data)
  for _, line in ipairs(data) do vim.schedule(function() work(line) end) end
end })
